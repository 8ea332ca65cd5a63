import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { currentBundle } from "../../build/bundle.ts";

const project = join(import.meta.dirname, "../..");

/** Before any test the launcher makes the bundle anew where the source changed, as it does for everybody. */
export default function setup(): void {
  execFileSync(join(project, "bin/crm-sync"), ["--version"]);
}

/** A file of the bundle that tests start. Throws where a source has changed since it was made. */
export function bundled(name: "main.cjs" | "sandbox.cjs"): string {
  return join(currentBundle(project), "..", name);
}
