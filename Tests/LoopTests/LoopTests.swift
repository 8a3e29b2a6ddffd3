// LoopTests
