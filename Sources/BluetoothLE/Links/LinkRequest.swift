// SPDX-License-Identifier: Apache-2.0
package import BluetoothLEText

/// A command's request for a link: the device and the link parameters.
package struct LinkRequest: Sendable {
  package var selector: PeerSelector
  /// Whether to connect if a session has no link to the device.
  package var connects = true
  /// Whether to restore a session's lost link.
  package var restores = false
  /// Whether to take the first matching device instead of the strongest.
  package var takesFirst = false
  /// Whether to fail if several devices match.
  package var demandsOne = false
  /// Whether to retry until the device appears or the time limit `patience` ends.
  package var waits = false
  /// Whether to look up the stored name of a device whose name the search did not hear.
  package var looksUpName = false
  /// The time limit of the search.
  package var patience = PeerSearch.usualLimit
  /// The time limits of a new link, and the number of retries.
  package var limits = Session.Limits()
  package var parameters = LinkParameterRequest()
  /// The defaults for the parameters of a new link to the device that the search found.
  package var defaults: @LoopActor @Sendable (PeerAddress, UntrustedText?) -> LinkParameterRequest = { _, _ in LinkParameterRequest() }
  /// Returns the security that the options or the defaults of the device demand, and the wish to pair if the device demands it.
  package var security: @LoopActor @Sendable (PeerAddress, UntrustedText?) throws -> SecurityDemand = { _, _ in (nil, .unencrypted) }
  /// Whether to exchange the MTU while connecting. False if the caller exchanges the MTU later.
  package var exchangesMTU = true

  package init(_ selector: PeerSelector) { self.selector = selector }

  /// Returns the parameters of a search for the requested device.
  /// - Parameter limit: The time left for the search.
  package func search(within limit: Duration) -> PeerSearch {
    var search = PeerSearch(selector, takesFirst: takesFirst, demandsOne: demandsOne, limit: limit)
    search.isUrgent = waits
    return search
  }
}

/// The link parameters to request before a command uses a link.
package struct LinkParameterRequest: Sendable, Equatable {
  /// The ATT_MTU to offer, 23…517 bytes. Nil offers the largest.
  package var mtu: Int?
  /// The data length to request, 27…251 bytes. Nil requests no change.
  package var dataLength: Int?
  package var phy: PHY?
  /// The connection interval to request, 7.5 ms…4 s. Nil requests no change.
  package var interval: Duration?

  package init(mtu: Int? = nil, phy: PHY? = nil, interval: Duration? = nil) { (self.mtu, self.phy, self.interval) = (mtu, phy, interval) }

  /// Returns the request with `other` for each parameter that it lacks.
  func filled(from other: Self) -> Self {
    var filled = Self(mtu: mtu ?? other.mtu, phy: phy ?? other.phy, interval: interval ?? other.interval)
    filled.dataLength = dataLength ?? other.dataLength
    return filled
  }

  /// The Link Layer parameters in the order of their requests. The interval is last, because a long interval slows the other procedures.
  var ofLinkLayer: [LinkParameter] {
    [dataLength.map { .dataLength($0) }, phy.map { .phy($0) }, interval.map { .interval($0) }].compactMap(\.self)
  }
}

/// A Link Layer parameter with its requested or agreed value.
package enum LinkParameter: Sendable, Equatable {
  /// The largest Link Layer payload, in bytes.
  case dataLength(Int)
  case phy(PHY)
  /// The connection interval, 7.5 ms…4 s.
  case interval(Duration)

  /// Requests the parameter on a link.
  /// - Returns: The agreed value. Nil if the link does not report the value.
  /// - Throws: The errors of the procedures of `Link`.
  @LoopActor
  func request(of link: any Link) async throws -> LinkParameter? {
    switch self {
    case .dataLength(let bytes): try await link.requestDataLength(bytes).maxTxOctets.map { .dataLength($0) }
    case .phy(let phy): try await link.requestPHY(phy).phy.map { .phy($0) }
    case .interval(let interval): try await link.requestInterval(interval).interval.map { .interval($0) }
    }
  }
}
