import TestSupport

/// Returns the kind of an error, as in JSON errors.
func kind(_ error: (any Error)?) -> String? {
  switch error {
  case nil: nil
  case let error as ATTError: word(error)
  case let error as GATTError: word(error)
  case is LinkLost: "link_lost"
  case let error?: "\(error)"
  }
}

private func word(_ error: ATTError) -> String {
  switch error {
  case .violation: "protocol"
  case .noResponse, .noConfirmation, .nothingGotThrough: "timeout"
  case .closedByThisSide: "link_lost"
  }
}

private func word(_ error: GATTError) -> String {
  switch error {
  case .errorResponse, .noLongWrites: "att"
  case .notFound, .sendsNoValues, .gone: "not_found"
  case .ambiguous: "ambiguous"
  case .invalidSelector, .tooLongForWriteRequest, .tooLongForAttribute, .segmentTooLong, .segmentTooShort: "usage"
  case .planMismatch: "internal"
  }
}

/// Returns the code of the Error Response in an error.
func code(_ error: any Error) -> UInt8? {
  if case GATTError.errorResponse(let code, to: _, on: _) = error { return code.rawValue }
  return nil
}
