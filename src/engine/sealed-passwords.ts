import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";

/** The account of a person at one customer: who moves has one at each, and what is sealed for one opens no other. */
interface Account {
  staff: RecordKey;
  customer: RecordKey;
}

/** The name under which the password is sealed that an account was made with. */
export function initialPasswordRef({ staff, customer }: Account): string {
  return `initial-password/${formatKey(staff)} at ${formatKey(customer)}`;
}

/** The name under which the passwords are sealed that were set for an account afterwards. */
export function newPasswordRef({ staff, customer }: Account): string {
  return `reset-password/${formatKey(staff)} at ${formatKey(customer)}`;
}

/** How the names begin under which the passwords of a person's accounts are sealed: initial ones, then new ones. */
export function passwordRefsBegin(staff: RecordKey): string[] {
  const person = `${formatKey(staff)} at `;
  return [`initial-password/${person}`, `reset-password/${person}`];
}
