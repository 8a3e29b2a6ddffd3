// StoresTests
