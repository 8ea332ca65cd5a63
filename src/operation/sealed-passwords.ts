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

/** The name that initial passwords were sealed under before they named the customer. */
export function earlierInitialPasswordRef(staff: RecordKey): string {
  return `initial-password/${formatKey(staff)}`;
}

/** Under which name, and names with which beginning, the passwords are sealed that accounts of a person began with. */
export function initialPasswordsOf(staff: RecordKey): { ref: string; beginning: string } {
  const ref = earlierInitialPasswordRef(staff);
  return { ref, beginning: `${ref} at ` };
}

/** The same of the passwords that were set afterwards. */
export function newPasswordsOf(staff: RecordKey): { ref: string; beginning: string } {
  const ref = `reset-password/${formatKey(staff)}`;
  return { ref, beginning: `${ref} at ` };
}
