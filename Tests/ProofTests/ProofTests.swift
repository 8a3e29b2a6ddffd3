// ProofTests
