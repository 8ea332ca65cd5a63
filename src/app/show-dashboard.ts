import type { Application } from "./application.ts";
import { createDashboard } from "./dashboard.ts";
import type { StartWeb } from "./health.ts";

/**
 * Shows the pages on loopback until `signal` is aborted, from the ledger alone. Throws a Problem where there is no
 * ledger, or the port is taken.
 */
export async function showDashboard(
  application: Application,
  request: { port: number; signal: AbortSignal; startWeb: StartWeb; started: (url: string) => void },
): Promise<void> {
  const { signal } = request;
  application.requireLedger();
  const dashboard = createDashboard({ application: () => application, signal });
  try {
    const server = await request.startWeb({
      settings: { host: "127.0.0.1", port: request.port },
      clock: application.clock,
      logger: application.logger,
      dashboard,
    });
    request.started(server.url);
    while (!signal.aborted) await application.clock.sleep(60_000, signal).catch(() => {});
    await server.close();
  } finally {
    dashboard.close();
  }
}
