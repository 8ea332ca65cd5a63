import type { Platform } from "./endpoints.ts";

/** Whether a staff member, by row, is in online use: by the setting `onlineMembers`, or because a person said so. */
export function onlineIn({ store, settings }: Platform): (row: number | null) => boolean {
  const find = store.prepare<[number, number, string], { one: number }>(
    `SELECT 1 AS one WHERE EXISTS (SELECT 1 FROM online WHERE staff_id = ?)
     OR EXISTS (SELECT 1 FROM staff WHERE id = ? AND user_name IN (SELECT value FROM json_each(?)))`,
  );
  const accounts = JSON.stringify(settings.onlineMembers);
  return (row) => row !== null && find.get(row, row, accounts) !== undefined;
}
