import EventLoop
import SystemPackage
import Text

extension OctetFile {
  /// The CRC-32 of the octets before `offset`. What was read in order costs nothing more; a regular file is read a second time only for what
  /// went by long ago, or was left out.
  /// - Parameter offset: the end of the file for all that is behind it.
  /// - Throws: FileError, CancellationError.
  package func crc(upTo offset: Int) async throws -> UInt32 {
    if regular == nil {
      while count == nil, end < offset { try await readOn() }
    }
    let offset = min(max(0, offset), count ?? offset)
    var mark = sums.nearest(to: offset)
    if mark.offset < offset, regular != nil, !(start...end).contains(mark.offset) || offset > end {
      mark = try await read(from: mark, upTo: offset)
    }
    if mark.offset < offset {
      // Of what can be read only once, the nearest is where the window begins, or what is asked for is gone.
      guard (start...end).contains(mark.offset) else { throw FileError.passed(path, offset: mark.offset) }
      mark.add(buffer[mark.offset - start..<offset - start], upTo: offset)
    }
    return mark.crc.value
  }

  /// The second pass over a regular file, which lets others have their turn.
  private func read(from mark: RunningSums.Mark, upTo offset: Int) async throws -> RunningSums.Mark {
    var mark = mark
    var block = [UInt8](repeating: 0, count: Self.blockSize)
    while mark.offset < offset {
      let room = min(block.count, offset - mark.offset)
      let count = try read(into: &block, 0..<room, at: mark.offset)
      guard count > 0 else { throw FileError.endedEarly(path, at: mark.offset, count: self.count ?? offset) }
      mark.add(block[..<count], upTo: mark.offset + count)
      EventLoop.shared.spendStep()
      try await EventLoop.shared.waitForTurn()
    }
    sums.keep(mark)
    return mark
  }
}

/// The CRC-32 of a file's beginning, up to the latest offsets that were passed.
struct RunningSums {
  struct Mark {
    var offset = 0
    var crc = CRC32()

    mutating func add(_ octets: ArraySlice<UInt8>, upTo end: Int) {
      crc.add(octets)
      offset = end
    }
  }

  /// The first is that of nothing; the others are in the order in which they were made, and the one before the last drop out.
  private var marks = [Mark()]
  /// So many blocks can a transfer go back, after a lost link for example, without a pass over all before.
  private static let most = 16

  func nearest(to offset: Int) -> Mark { marks.filter { $0.offset <= offset }.max { $0.offset < $1.offset } ?? Mark() }

  /// The octets `window` of the file, in `buffer`, make room for what is at `offset`: those in between were passed.
  mutating func advance(to offset: Int, _ buffer: [UInt8], _ window: Range<Int>) {
    guard var last = marks.max(by: { $0.offset < $1.offset }), last.offset >= window.lowerBound else { return }
    let end = min(offset, window.upperBound)
    guard end > last.offset else { return }
    last.add(buffer[last.offset - window.lowerBound..<end - window.lowerBound], upTo: end)
    keep(last)
  }

  mutating func keep(_ mark: Mark) {
    if marks.count == Self.most { marks.remove(at: 1) }
    marks.append(mark)
  }
}
