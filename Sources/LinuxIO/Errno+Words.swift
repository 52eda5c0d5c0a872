import Glibc
package import SystemPackage

extension Errno {
  /// `Permission denied (EACCES)`: never a number alone.
  package var words: String { "\(description) (\(symbol))" }

  /// The C name.
  package var symbol: String { Self.symbols[rawValue] ?? "errno \(rawValue)" }

  /// As JSON shows it: `eacces`.
  package var snakeName: String { Self.symbols[rawValue]?.lowercased() ?? "errno_\(rawValue)" }

  private static let symbols: [Int32: String] = [
    Glibc.EPERM: "EPERM", Glibc.ENOENT: "ENOENT", Glibc.EINTR: "EINTR", Glibc.EIO: "EIO", Glibc.ENXIO: "ENXIO", Glibc.EBADF: "EBADF",
    Glibc.EAGAIN: "EAGAIN", Glibc.ENOMEM: "ENOMEM",
    Glibc.EACCES: "EACCES", Glibc.EBUSY: "EBUSY", Glibc.EEXIST: "EEXIST", Glibc.ENODEV: "ENODEV", Glibc.ENOTDIR: "ENOTDIR",
    Glibc.EISDIR: "EISDIR", Glibc.EINVAL: "EINVAL",
    Glibc.ENFILE: "ENFILE", Glibc.EMFILE: "EMFILE", Glibc.ENOTTY: "ENOTTY", Glibc.EFBIG: "EFBIG", Glibc.ENOSPC: "ENOSPC",
    Glibc.EROFS: "EROFS", Glibc.EMLINK: "EMLINK",
    Glibc.EPIPE: "EPIPE", Glibc.ENAMETOOLONG: "ENAMETOOLONG", Glibc.ENOSYS: "ENOSYS", Glibc.ELOOP: "ELOOP", Glibc.EILSEQ: "EILSEQ",
    Glibc.EUSERS: "EUSERS", Glibc.EBADE: "EBADE",
    Glibc.EMSGSIZE: "EMSGSIZE", Glibc.EPROTO: "EPROTO", Glibc.EPROTONOSUPPORT: "EPROTONOSUPPORT", Glibc.EOPNOTSUPP: "EOPNOTSUPP",
    Glibc.EAFNOSUPPORT: "EAFNOSUPPORT",
    Glibc.EADDRINUSE: "EADDRINUSE", Glibc.ENETDOWN: "ENETDOWN", Glibc.ENETUNREACH: "ENETUNREACH", Glibc.ECONNABORTED: "ECONNABORTED",
    Glibc.ECONNRESET: "ECONNRESET",
    Glibc.ENOBUFS: "ENOBUFS", Glibc.EISCONN: "EISCONN", Glibc.ENOTCONN: "ENOTCONN", Glibc.ETIMEDOUT: "ETIMEDOUT",
    Glibc.ECONNREFUSED: "ECONNREFUSED",
    Glibc.EHOSTDOWN: "EHOSTDOWN", Glibc.EHOSTUNREACH: "EHOSTUNREACH", Glibc.EALREADY: "EALREADY", Glibc.EINPROGRESS: "EINPROGRESS",
    Glibc.ERFKILL: "ERFKILL",
    Glibc.EDQUOT: "EDQUOT", Glibc.ESTALE: "ESTALE",
  ]
}

/// The C names, for codes that `Errno` spells in words that hide them.
extension Errno {
  package static let EPERM_ = Self(rawValue: Glibc.EPERM)
  package static let EACCES_ = Self(rawValue: Glibc.EACCES)
  package static let EBUSY_ = Self(rawValue: Glibc.EBUSY)
  package static let ENODEV_ = Self(rawValue: Glibc.ENODEV)
  package static let EPIPE_ = Self(rawValue: Glibc.EPIPE)
  package static let EBADFD_ = Self(rawValue: Glibc.EBADFD)
  package static let EMLINK_ = Self(rawValue: Glibc.EMLINK)
  package static let EBADE_ = Self(rawValue: Glibc.EBADE)
  package static let EUSERS_ = Self(rawValue: Glibc.EUSERS)
  package static let ENOSYS_ = Self(rawValue: Glibc.ENOSYS)
  package static let EMSGSIZE_ = Self(rawValue: Glibc.EMSGSIZE)
  package static let ENETDOWN_ = Self(rawValue: Glibc.ENETDOWN)
  package static let EAFNOSUPPORT_ = Self(rawValue: Glibc.EAFNOSUPPORT)
  package static let EPROTONOSUPPORT_ = Self(rawValue: Glibc.EPROTONOSUPPORT)
  package static let EOPNOTSUPP_ = Self(rawValue: Glibc.EOPNOTSUPP)
  package static let ERFKILL_ = Self(rawValue: Glibc.ERFKILL)
  package static let ECONNREFUSED_ = Self(rawValue: Glibc.ECONNREFUSED)
  package static let ECONNRESET_ = Self(rawValue: Glibc.ECONNRESET)
  package static let ECONNABORTED_ = Self(rawValue: Glibc.ECONNABORTED)
  package static let ENOTCONN_ = Self(rawValue: Glibc.ENOTCONN)
  package static let ETIMEDOUT_ = Self(rawValue: Glibc.ETIMEDOUT)
  package static let EHOSTUNREACH_ = Self(rawValue: Glibc.EHOSTUNREACH)
  package static let EHOSTDOWN_ = Self(rawValue: Glibc.EHOSTDOWN)
}
