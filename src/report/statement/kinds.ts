/** The kinds of statements, as a configuration names them; those that are made have their rows in the inquiry. */
export const statementKinds = ["orders", "entitlements", "reconciliation", "corrections", "exceptions", "run"] as const;
