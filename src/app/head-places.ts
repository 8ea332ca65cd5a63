import { keepHeadOutside } from "../run/head-places.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Application } from "./application.ts";
import { signedHead } from "./audit-record.ts";

/** Writes the head of the audit log to each configured place, signed where there is a key. */
export async function keepHead(application: Application, ledger: Ledger): Promise<void> {
  await keepHeadOutside({
    places: application.config.audit.heads,
    head: async () => {
      const found = await signedHead(application);
      if (found === undefined) return undefined;
      const { sequence, hash, size, root, at, ledger: name } = found.head;
      return { sequence, hash, size, root, at, ledger: name, checkpoint: found.signed?.checkpoint };
    },
    ledger,
    logger: application.logger,
    directory: application.directory,
    secret: (reference) => application.secrets.reveal(reference),
    known: application.secrets.known,
  });
}
