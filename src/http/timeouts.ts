/** The time-outs of a connection in the words of the settings, for services and sources alike. */
export interface TimeoutSettings {
  connectTimeoutMs: number;
  headersTimeoutMs: number;
  bodyTimeoutMs: number;
}

/** The same for undici. `ca` is the PEM of a certificate authority. */
export function timeouts(
  settings: TimeoutSettings,
  ca?: string,
): { headersTimeout: number; bodyTimeout: number; connect: { timeout: number; ca?: string } } {
  return {
    headersTimeout: settings.headersTimeoutMs,
    bodyTimeout: settings.bodyTimeoutMs,
    connect: { timeout: settings.connectTimeoutMs, ...(ca === undefined ? {} : { ca }) },
  };
}
