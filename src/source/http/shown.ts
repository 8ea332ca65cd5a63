import type { Placement } from "./placement.ts";

/** What one request shows of who we are, and what became of it. */
export interface Shown {
  headers: Readonly<Record<string, string>>;
  /** Query parameters. They are secret: no place, message or log may show them. */
  parameters: Readonly<Record<string, string>>;
  /** Further values at places of the request, secret likewise. */
  placed?: readonly Placement[];
  /** The service did not accept it: the next request reads the secret again or asks for a new token. */
  refused(): void;
  accepted(): void;
}

/** How a source knows us. */
export interface Credentials {
  /** False: a request that is refused is not made again with others. */
  renewable?: false;
  /** Throws a Problem where there is no secret or no token, or the signal's reason. */
  show(signal: AbortSignal | undefined): Promise<Shown>;
}

/** Of requests that show nothing, such as the log-in itself. */
export const noCredentials: Credentials = {
  show: () => Promise.resolve({ headers: {}, parameters: {}, refused: () => undefined, accepted: () => undefined }),
};
