import type { RunRequest } from "../../../src/engine/run/request.ts";
import { runSync, type RunSummary } from "../../../src/engine/run/run.ts";
import { limitsSettingsSchema } from "../../../src/engine/run/run-settings.ts";
import type { ApplyWorld } from "./apply-world.ts";

/** One run over everything that a world's ledger holds, without a source. */
export async function runWorld(world: ApplyWorld, request: Partial<RunRequest> = {}): Promise<RunSummary> {
  const dependencies = { ...world.deps, sources: [], streams: [], concurrency: 2, progress: () => {} };
  return await runSync(dependencies, {
    job: "everything",
    trigger: "hand",
    streams: ["customers", "orders", "staff"],
    limits: limitsSettingsSchema.parse({}),
    read: false,
    header: {},
    ...request,
  });
}
