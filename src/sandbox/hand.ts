import type { Platform } from "./endpoints.ts";
import { contentEdits } from "./hand-contents.ts";
import { handEditSchema } from "./hand-edits.ts";
import type { EditOf, Edits, HandEdit, HandEditInput, HandResult } from "./hand-edits.ts";
import { peopleEdits } from "./hand-people.ts";

/** What carries such an edit out, whole or not at all. Throws NotThere. */
export function createHand(platform: Platform): (edit: HandEditInput) => HandResult {
  const edits: Edits = { ...contentEdits(platform), ...peopleEdits(platform) };
  const carryOut = <Action extends HandEdit["action"]>(edit: EditOf<Action>): HandResult | undefined =>
    edits[edit.action](edit);
  const transact = platform.store.transaction((edit: HandEdit) => carryOut(edit) ?? {});
  return (given) => transact.immediate(handEditSchema.parse(given));
}
