// HttpTests
