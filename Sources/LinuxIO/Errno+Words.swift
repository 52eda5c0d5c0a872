import Glibc
import SystemPackage

extension Errno {
  /// `Permission denied (EACCES)`: never a number alone.
  var words: String { "\(description) (\(symbol))" }

  /// The C name.
  var symbol: String { Self.symbols[rawValue] ?? "errno \(rawValue)" }

  /// As JSON shows it: `eacces`.
  var snakeName: String { Self.symbols[rawValue]?.lowercased() ?? "errno_\(rawValue)" }

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
