// SPDX-License-Identifier: Apache-2.0
/// The exchange of the MTU. `BearerState` keeps the agreed one.
extension Client {
  /// Requests an ATT_MTU (Vol 3 Part G §4.3.1). If the peer refuses or its answer is invalid, keeps the MTU and sends a note.
  /// - Returns: the ATT_MTU in effect.
  /// - Throws: the errors of `Bearer.request`.
  @discardableResult
  package func exchangeMTU(_ wanted: Int = BearerState.largestMTU) async throws -> Int {
    requestedMTU = wanted
    bearer.offer(rxMTU: wanted)
    do {
      switch try await bearer.request(.exchangeMTU(clientRxMTU: UInt16(clamping: bearer.rxMTU))) {
      case .exchangeMTU(let answer) where Int(answer) < BearerState.defaultMTU:
        onNote?(.mtuBelowLeast(offered: Int(answer), mtu: mtu))
      case .error(_, _, let code): onNote?(.mtuRefused(code, mtu: mtu))
      default: break
      }
    } catch ATTError.violation(let violation) where closed == nil { onNote?(.mtuAnsweredWrongly(violation, mtu: mtu)) }
    return mtu
  }

  /// Exchanges the MTU unless the client has already requested an MTU. A client requests at most once per link (Vol 3 Part G §4.3.1).
  func exchangeMTUOnce() async throws { if requestedMTU == nil { try await exchangeMTU() } }

  /// Sends an Exchange MTU Request (Vol 3 Part G §4.3.1).
  /// - Returns: the ATT_MTU in effect. Nil if the peer offers less than the minimum, 23.
  package func exchangeMTU(offering wanted: Int) async throws -> Int? {
    bearer.offer(rxMTU: wanted)
    let request = Request.exchangeMTU(clientRxMTU: UInt16(clamping: bearer.rxMTU))
    let offered: UInt16 = try await answer(request) { if case .exchangeMTU(let bytes) = $0 { bytes } else { nil } }
    return Int(offered) < BearerState.defaultMTU ? nil : mtu
  }
}
