// ProvidersTests
