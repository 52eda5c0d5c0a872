import EventLoop

try EventLoop.shared.run {}
