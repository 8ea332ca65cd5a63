import { passwordRequest } from "./password-request.ts";
import { plan, planLast } from "./plan.ts";
import { state } from "./state.ts";
import { undoAddition, undoDeletedAccount, undoProfile } from "./undo-people.ts";

export { kinds } from "./kinds.ts";

/** Accounts of people in the member-center (M1 to M5) and their passwords. */
export const staff = {
  name: "staff",
  types: {},
  state,
  requests: { password: passwordRequest },
  plan,
  planLast,
  undo: { "add-staff": undoAddition, "edit-staff": undoProfile, "delete-staff": undoDeletedAccount },
};
