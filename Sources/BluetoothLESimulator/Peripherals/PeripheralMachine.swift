// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE

/// A state machine that computes the effects of events on a virtual device without I/O. It holds the state, timers and waiting actions.
/// All times are nanoseconds of the event loop's clock.
package struct PeripheralMachine: Sendable {
  package enum Effect: Sendable, Equatable {
    case notify(AttributeHandle, [UInt8])
    case indicate(AttributeHandle, [UInt8])
    case reset(sink: AttributeHandle)
    case disconnect(Reaction.Disconnection)
    case busy(Duration)
    case failController(UInt8)
  }

  package private(set) var state: PeripheralState
  package private(set) var isAdvertising = true

  /// The actions that one event started and that have not finished.
  private struct Run: Sendable {
    struct Frame {
      let actions: [Reaction.Action]
      var next = 0
      /// The number of further rounds through `actions`.
      var more: Int64
    }
    var frames: [Frame]
    let written: [UInt8]
    var work = PeripheralState.workPerEvent
    /// The time, in nanoseconds, at which the next action is due.
    var due: Int64
    /// Whether the delay of the next action has passed.
    var isDue = false
  }

  private var timers: [(timer: PeripheralDescription.Timer, due: Int64?)]
  /// The runs that wait for a delay to pass, in the order of their due times.
  private var waiting: [Run] = []

  /// The maximum number of runs that wait for a delay. The machine drops further runs.
  package static let mostWaiting = 1024
  /// The maximum number of timers and runs in one call of `advance`. `workAtOnce` limits the bytes that the call computes.
  package static let mostAtOnce = 4096
  private static let workAtOnce = 8 << 20
  /// The fixed cost of an action, in bytes. The machine adds it to the number of bytes that the action computes.
  private static let costOfAction = 256

  /// Creates a machine that starts its periodic timers.
  /// - Parameter database: The initial values, from which timers may compute their intervals.
  package init(state: PeripheralState, timers: [PeripheralDescription.Timer], _ database: AttributeDatabase) {
    self.state = state
    self.timers = timers.map { ($0, nil) }
    for (index, timer) in timers.enumerated() where timer.isPeriodic {
      self.timers[index].due = state.now &+ self.state.nanoseconds(timer.interval, [], database)
    }
  }

  // MARK: Events

  /// Returns the first reaction whose conditions hold. Nil if no reaction matches.
  package mutating func choose(_ reactions: [Reaction], written: [UInt8], at now: Int64, _ database: AttributeDatabase) -> Reaction? {
    (state.now, state.work) = (now, PeripheralState.workPerEvent)
    return reactions.first { reaction in
      guard state.spend(1), reaction.condition.matches(written) else { return false }
      return reaction.condition.state.map { state.holds($0, written: written, database) } ?? true
    }
  }

  /// Runs actions up to the first delay and returns their effects. The remaining actions wait for `advance`.
  package mutating func begin(
    _ actions: [Reaction.Action], written: [UInt8], at now: Int64, _ database: inout AttributeDatabase
  ) -> [Effect] {
    guard !actions.isEmpty else { return [] }
    return proceed(Run(frames: [.init(actions: actions, more: 0)], written: written, due: now), &database)
  }

  /// Returns the current value of a template.
  package mutating func value(_ template: Template, at now: Int64, _ database: AttributeDatabase) -> [UInt8] {
    (state.now, state.work) = (now, PeripheralState.workPerEvent)
    return state.value(template, written: [], database)
  }

  /// Returns a time in nanoseconds.
  package mutating func nanoseconds(_ time: DeviceTime, at now: Int64, _ database: AttributeDatabase) -> Int64 {
    (state.now, state.work) = (now, PeripheralState.workPerEvent)
    return state.nanoseconds(time, [], database)
  }

  package mutating func subscribed(_ handle: AttributeHandle, clients: Int) { state.subscribers[handle] = clients }

  /// Drops the waiting actions, but not the timers.
  package mutating func forget() { waiting = [] }

  /// Whether any action waits for a delay to pass.
  package var isWaiting: Bool { !waiting.isEmpty }

  // MARK: Time

  /// The time, in nanoseconds, at which the next timer or action is due. Nil if no timer runs and no action waits.
  package var due: Int64? {
    let timer = timers.compactMap(\.due).min()
    guard let run = waiting.first?.due else { return timer }
    return min(run, timer ?? run)
  }

  /// Runs timers and actions until `now` in chronological order. After `mostAtOnce` of them, skips overdue runs of periodic timers.
  package mutating func advance(to now: Int64, _ database: inout AttributeDatabase) -> [Effect] {
    var effects: [Effect] = []
    var work = Self.workAtOnce
    for _ in 0..<Self.mostAtOnce {
      guard work > 0, let due, due <= now else { break }
      if let run = waiting.first, run.due == due {
        waiting.removeFirst()
        effects += proceed(run, &database)
        work -= run.work - state.work
      } else if let index = timers.firstIndex(where: { $0.due == due }) {
        let timer = timers[index].timer
        timers[index].due = timer.isPeriodic ? due &+ nanoseconds(timer.interval, at: due, database) : nil
        if timer.isPeriodic { work -= PeripheralState.workPerEvent - state.work }
        effects += begin(timer.actions, written: [], at: due, &database)
        work -= timer.actions.isEmpty ? 1 : PeripheralState.workPerEvent - state.work
      }
    }
    for index in timers.indices where timers[index].timer.isPeriodic {
      guard let due = timers[index].due, due <= now else { continue }
      let interval = max(1, nanoseconds(timers[index].timer.interval, at: now, database))
      timers[index].due = due &+ ((now &- due) / interval &+ 1) &* interval
    }
    return effects
  }

  private mutating func set(timer: Int, to due: Int64?) { if timers.indices.contains(timer) { timers[timer].due = due } }

  // MARK: Actions

  private mutating func proceed(_ start: Run, _ database: inout AttributeDatabase) -> [Effect] {
    var run = start
    (state.now, state.work) = (run.due, run.work)
    var effects: [Effect] = []
    while var frame = run.frames.popLast() {
      guard frame.next < frame.actions.count else {
        frame.next = 0
        frame.more -= 1
        if frame.more >= 0, state.spend(1) { run.frames.append(frame) }
        continue
      }
      let action = frame.actions[frame.next]
      let delay = run.isDue ? 0 : action.delay.map { state.nanoseconds($0, run.written, database) } ?? 0
      if delay > 0 {
        run.frames.append(frame)
        run.work = state.work
        (run.due, run.isDue) = (run.due &+ delay, true)
        wait(run)
        return effects
      }
      run.isDue = false
      guard state.spend(Self.costOfAction) else { return effects }
      frame.next += 1
      run.frames.append(frame)
      let holds = action.condition.map { state.holds($0, written: run.written, database) } ?? true
      if case .block(let actions, let times, let otherwise) = action.kind {
        let rounds = holds ? state.number(times, run.written, database) : 1
        if rounds > 0 { run.frames.append(.init(actions: holds ? actions : otherwise, more: rounds - 1)) }
      } else if holds {
        effects += perform(action.kind, run.written, &database)
      }
    }
    return effects
  }

  private mutating func wait(_ run: Run) {
    guard waiting.count < Self.mostWaiting else { return }
    waiting.insert(run, at: waiting.firstIndex { $0.due > run.due } ?? waiting.count)
  }

  private mutating func perform(_ kind: Reaction.Action.Kind, _ written: [UInt8], _ database: inout AttributeDatabase) -> [Effect] {
    func keep(_ template: Template, _ handle: AttributeHandle) -> [UInt8] {
      database.setValue(state.value(template, written: written, database), of: handle)
      return database[handle]?.value ?? []
    }
    switch kind {
    case .notify(let handle, let template): return [.notify(handle, keep(template, handle))]
    case .indicate(let handle, let template): return [.indicate(handle, keep(template, handle))]
    case .set(let handle, let template): _ = keep(template, handle)
    case .reset(let sink): return [.reset(sink: sink)]
    case .assignBytes(let variable, let template): state.assign(.bytes(state.value(template, written: written, database)), to: variable)
    case .assignNumber(let variable, let number): state.assign(.number(state.number(number, written, database)), to: variable)
    case .setClock(let number): state.setClock(state.number(number, written, database))
    case .start(let timer):
      guard timers.indices.contains(timer) else { break }
      set(timer: timer, to: state.now &+ state.nanoseconds(timers[timer].timer.interval, written, database))
    case .stop(let timer): set(timer: timer, to: nil)
    case .advertise(let isOn): isAdvertising = isOn
    case .disconnect(let how): return [.disconnect(how)]
    case .busy(let time): return [.busy(time)]
    case .failController(let code): return [.failController(code)]
    case .block: break
    }
    return []
  }
}
