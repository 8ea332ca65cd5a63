import type { JsonObject } from "../base/canonical-json.ts";
import { sha256 } from "../base/canonical-json.ts";
import type { Clock } from "../base/clock.ts";
import { durationMs } from "../base/duration.ts";
import { messageOf } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import type { Role } from "../config/access-settings.ts";
import type { ServeSettings } from "../config/serve.ts";
import { Sessions } from "../ledger/sessions/sessions.ts";
import type { Session } from "../ledger/sessions/sessions.ts";
import type { Application } from "./application.ts";
import type { Dashboard } from "./dashboard.ts";

/** Somebody who signs in with a password of their own. */
interface Account {
  role: Role;
  /** What the password is compared with. */
  line: string;
}

/** What the check of who asks stands on: the settings of now, who is signed in, and where refusals are written down. */
export class Access {
  readonly sessions: Sessions;
  readonly clock: Clock;
  readonly #dashboard: Dashboard;
  /** The accounts of the configuration in effect: another one once a configuration was taken over. */
  #known: { application: Application; accounts: Map<string, Account>; providerMark: string | undefined } | undefined;

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

  /** Whether something can be decided and written down here. */
  get isLive(): boolean {
    return this.#dashboard.live !== undefined;
  }

  secret(reference: string): string {
    return this.#dashboard.application.secrets.reveal(reference);
  }

  account(name: string): Account | undefined {
    return this.#now().accounts.get(name);
  }

  /**
   * The session of a token, as long as what it rests on is configured as it was. One that is only looked at is no less
   * idle for that.
   */
  session(token: string, how: "used" | "looked at" = "used"): Session | undefined {
    const { idle, longest } = this.settings.access.sessions;
    const life = { idleMs: durationMs(idle), longestMs: durationMs(longest), isUsed: how === "used" };
    return this.sessions.find(token, life, (way, person) => this.mark(way, person));
  }

  /** On which settings a session rests: its person may come in by this way as long as it is the same. */
  mark(way: string, person: string): string | undefined {
    if (way === "link") return "link";
    if (way === "oidc") return this.#now().providerMark;
    const account = way === "account" ? this.account(person) : undefined;
    return account === undefined ? undefined : sha256(`${account.role}\n${account.line}`);
  }

  /** Writes an entry of the audit record; where it cannot be written the log says so, and the answer is the same. */
  async note(kind: string, subject: string, body: JsonObject): Promise<void> {
    if (!this.isLive) return;
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

  #now() {
    const { application } = this.#dashboard;
    if (this.#known?.application === application) return this.#known;
    const { accounts, oidc } = application.config.serve.access;
    const known = new Map<string, Account>();
    for (const [name, { role, password }] of Object.entries(accounts)) {
      try {
        known.set(name, { role, line: application.secrets.reveal(password) });
      } catch (error) {
        const reason = messageOf(error);
        this.logger.error({ event: "access.no-password", account: name, reason }, "an account cannot sign in");
      }
    }
    const providerMark = oidc === undefined ? undefined : sha256(JSON.stringify(oidc));
    this.#known = { application, accounts: known, providerMark };
    return this.#known;
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
