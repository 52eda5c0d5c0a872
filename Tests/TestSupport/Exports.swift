// What nearly every test needs, so that its file names only what it tests.
@_exported public import BluetoothLE
@_exported public import Testing
