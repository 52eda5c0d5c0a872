/// The documented exit codes. If thrown, ends a command that already printed its message.
package enum ExitStatus: Int32, Error {
  case done = 0
  case `internal` = 1
  case notFound = 2
  case adapter = 3
  case timeout = 4
  case refused = 5
  case linkLost = 6
  case expectation = 7
  case usage = 64
  case input = 66
  case output = 74
  case interrupted = 130
}
