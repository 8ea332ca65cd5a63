import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { currentBundle, external } from "../../scripts/build/bundle.ts";

const project = join(import.meta.dirname, "../..");

/** Before any test the launcher makes the bundle anew where the source changed, as it does for everybody. */
export default function setup(): void {
  execFileSync(join(project, "bin/crm-sync"), ["--version"]);
}

/** The bundle that tests start. Throws if a source has changed since it was made. */
export function bundled(): string {
  return currentBundle(project);
}

/**
 * Bundles a program of the tests as the program itself is, so that what it needs of memory is what a user sees: Node
 * keeps 90 MB for the types that it strips. The files go into `folder`, which stands inside the project.
 */
export async function bundleProgram(program: string, folder: string): Promise<string> {
  const bundle = await rolldown({ cwd: project, input: { program }, platform: "node", external, logLevel: "silent" });
  try {
    await bundle.write({
      dir: folder,
      format: "es",
      entryFileNames: "[name].mjs",
      chunkFileNames: "[name]-[hash].mjs",
    });
  } finally {
    await bundle.close();
  }
  return join(folder, "program.mjs");
}

/** How `bin/crm-sync` starts Node, so that it is as frugal. */
export const frugal = {
  words: ["--min-semi-space-size=8", "--max-semi-space-size=8", "--heap-growing-percent=100"],
  env: { MALLOC_ARENA_MAX: "1" },
};
