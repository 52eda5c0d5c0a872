import EventLoop

/// Delivers events of the channel in the order of arrival (see `ArrivalOrder`).
extension Bearer {
  func handle(_ event: ChannelEvent) {
    if !keepsOrder, state.isIdle { return deliver(event) }
    let passes = order.passes(event, isAsking: !state.isIdle, isShared: hasSeveralListeners)
    keepsOrder = hasSeveralListeners || order.isWaiting
    if order.isWaiting { turnEnd.request() }
    if passes { deliver(event) } else if order.isFull { deliverAll() }
  }

  func deliverHeld() { for event in taken() { handle(event) } }

  private func deliverAll() { for event in taken() { deliver(event) } }

  private func taken() -> [ChannelEvent] {
    defer { keepsOrder = hasSeveralListeners }
    return order.take()
  }
}
