import type { Snapshot } from "./dialect.ts";

/** What a driver's connection tells of its end. */
interface Line {
  on(event: "error" | "end", told: () => void): unknown;
}

/** A view over a connection to a server, as far as it is the same whatever server it is. */
export abstract class ServerSnapshot implements Pick<Snapshot, "openedAt" | "isOpen" | "close"> {
  #openedAt = "";
  #isOpen = true;

  constructor(line: Line) {
    const ended = (): void => {
      this.#isOpen = false;
    };
    line.on("error", ended);
    line.on("end", ended);
  }

  get openedAt(): string {
    return this.#openedAt;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Begins the view. One that cannot begin is closed. */
  async begin(): Promise<this> {
    try {
      this.#openedAt = await this.start();
      return this;
    } catch (thrown) {
      await this.close();
      throw thrown;
    }
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    await this.disconnect();
  }

  /** Connects and begins the view; returns the time of the database. */
  protected abstract start(): Promise<string>;

  /** Lets go of the connection, whatever is on. */
  protected abstract disconnect(): Promise<void>;
}
