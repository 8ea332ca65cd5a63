import type { JsonObject } from "../base/canonical-json.ts";
import { sha256 } from "../base/canonical-json.ts";
import type { Clock } from "../base/clock.ts";
import { durationMs } from "../base/duration.ts";
import { messageOf } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import type { ServeSettings } from "../config/schema.ts";
import { Sessions } from "../ledger/sessions/sessions.ts";
import type { Session } from "../ledger/sessions/sessions.ts";
import type { Own } from "../ledger/sessions/side-file.ts";
import type { Application } from "./application.ts";
import type { Dashboard } from "./dashboard.ts";

/** What the check of who asks stands on: the settings of now, who is signed in, and where refusals are written down. */
export class Access {
  readonly sessions: Sessions;
  readonly clock: Clock;
  readonly #dashboard: Dashboard;
  constructor(dashboard: Dashboard) {
    this.#dashboard = dashboard;
    this.clock = dashboard.clock;
    const { application } = dashboard;
    this.sessions = sessionsOf(application, dashboard.clock);
  }

  get settings(): ServeSettings {
    return this.#dashboard.application.config.serve;
  }

  get logger(): Logger {
    return this.#dashboard.application.logger;
  }

  /** The folder that the configuration names files from. */
  get directory(): string {
    return this.#dashboard.application.directory;
  }

  secret(reference: string): string {
    return this.#dashboard.application.secrets.reveal(reference);
  }

  /** Without its file nobody is signed in: that alone ends nothing else. */
  tried<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      this.logger.error(
        { event: "sessions.unusable", reason: messageOf(error) },
        "the file of who is signed in cannot be used: nobody can sign in",
      );
      return undefined;
    }
  }

  /** The secret of the pages and their name on this machine; undefined where the file cannot be used. */
  own(): Own | undefined {
    return this.tried(() => this.sessions.own());
  }

  /**
   * The session of a token, as long as what it rests on is configured as it was. One that is only looked at is no less
   * idle for that.
   */
  session(token: string, how: "used" | "looked at" = "used"): Session | undefined {
    const { idle, longest } = this.settings.access.sessions;
    const life = { idleMs: durationMs(idle), longestMs: durationMs(longest), isUsed: how === "used" };
    return this.sessions.find(token, life, (way) => this.mark(way));
  }

  /** On which settings a session rests: people may come in by this way as long as they are the same. */
  mark(way: string): string | undefined {
    if (way === "link") return "link";
    const { oidc } = this.settings.access;
    return way === "oidc" && oidc !== undefined ? sha256(JSON.stringify(oidc)) : undefined;
  }

  /** Writes an entry of the audit log; where it cannot be written the log says so, and the answer is the same. */
  async note(kind: string, subject: string, body: JsonObject): Promise<void> {
    try {
      const ledger = await this.#dashboard.application.ledger();
      await ledger.audit.append({ kind, subject, body });
    } catch (error) {
      this.logger.error(
        { event: "access.not-noted", kind, reason: messageOf(error) },
        "a refusal is not in the record",
      );
    }
  }
}

/** Who is signed in at the pages of a ledger. */
export function sessionsOf(application: Application, clock: Clock): Sessions {
  return new Sessions({
    path: `${application.ledgerPath}.sessions`,
    clock,
    random: application.random,
    anew: (why) =>
      application.logger.warn(
        { event: "sessions.anew", why },
        "the file of who is signed in was made anew: everybody signs in again",
      ),
  });
}
