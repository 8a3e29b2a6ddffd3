// KeysTests
