import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { z } from "zod";
import { benchPath } from "../measure.ts";

const portSchema = z.object({ port: z.int() });

const reportSchema = z.object({
  calls: z.record(z.string(), z.int()),
  /** Calls that were made by fetch. */
  fetched: z.int(),
  /** Calls that nothing was recorded for. */
  refused: z.int(),
  /** How long answers were held in all, and the longest of them. */
  heldMs: z.number(),
  longestHeldMs: z.number(),
  mostInFlight: z.int(),
  cpuSeconds: z.number(),
});

/** What a replay server has done since it started. */
export const replayReportSchema = reportSchema.extend({ total: z.int() });
export type ReplayReport = z.infer<typeof replayReportSchema>;

/** What a replay server knows and does. */
export interface Replaying {
  /** How long each answer is held. */
  latencyMs: number;
  /** Every customer was created before; by default none. */
  known?: boolean;
  /** Where it finds what earlier ones were told, and leaves what it was told; by default it forgets. */
  memory?: string | undefined;
}

/** Starts a replay server, hands its address to `use`, and stops it when `use` is done. */
export async function withReplay<T>(
  { latencyMs, known = false, memory }: Replaying,
  use: (replay: { baseUrl: string; report(): Promise<ReplayReport> }) => Promise<T>,
): Promise<T> {
  const child = fork(benchPath("replay/server.ts"), [
    "--latency",
    String(latencyMs),
    ...(known ? ["--known"] : []),
    ...(memory === undefined ? [] : ["--memory", memory]),
  ]);
  try {
    const { port } = portSchema.parse(await nextMessage(child));
    return await use({
      baseUrl: `http://127.0.0.1:${port}`,
      report: async () => {
        const answer = nextMessage(child);
        child.send("report");
        const report = reportSchema.parse(await answer);
        return { ...report, total: Object.values(report.calls).reduce((sum, count) => sum + count, 0) };
      },
    });
  } finally {
    const ended = once(child, "exit");
    child.disconnect();
    await ended;
  }
}

async function nextMessage(child: ChildProcess): Promise<unknown> {
  const failed = new AbortController();
  const died = once(child, "exit", { signal: failed.signal }).then(() => {
    throw new Error("the replay server ended by itself");
  });
  died.catch(() => {});
  try {
    const message: unknown[] = await Promise.race([once(child, "message", { signal: failed.signal }), died]);
    return message[0];
  } finally {
    failed.abort();
  }
}
