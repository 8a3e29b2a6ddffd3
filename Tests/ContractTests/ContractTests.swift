// ContractTests
