// ApiTests
