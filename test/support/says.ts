import { vi } from "vitest";
import { main } from "../../src/cli/program.ts";
import type { World } from "./cli.ts";

/** Carries a command line out in this process, and gives its exit code and what it printed. */
export async function says(w: World, ...words: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const said = { stdout: "", stderr: "" };
  const spies = (["stdout", "stderr"] as const).map((stream) =>
    vi.spyOn(process[stream], "write").mockImplementation((text, ...rest: unknown[]) => {
      said[stream] += String(text);
      for (const done of rest) if (typeof done === "function") Reflect.apply(done, undefined, []);
      return true;
    }),
  );
  const environment = { ...w.environment, CRM_SYNC_CONFIG: w.path("crm-sync.yaml"), CRM_SYNC__log__level: "silent" };
  const nobody = () => Promise.reject(new Error("nothing here answers health questions"));
  try {
    const code = await main([`--sandbox=${w.sandbox.url}`, ...words], environment, nobody);
    return { code, ...said };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}
