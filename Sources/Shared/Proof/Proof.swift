// Proof
