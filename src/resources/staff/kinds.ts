import type { Kind } from "../../engine/kind.ts";
import { addStaff } from "./add-staff.ts";
import { editStaff } from "./edit-staff.ts";
import { deleteStaff } from "./delete-staff.ts";
import { resetPassword } from "./reset-password.ts";

/** Its operation types. */
export const kinds = {
  "add-staff": addStaff,
  "edit-staff": editStaff,
  "delete-staff": deleteStaff,
  "reset-password": resetPassword,
};

type ShapesIn<One> = One extends Kind<infer S> ? S : never;
type KindShapes = { [K in keyof typeof kinds]: ShapesIn<(typeof kinds)[K]> };

declare module "../../engine/resource.ts" {
  interface OperationShapes extends KindShapes {}
}
