import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A private key and the certificate to it, in PEM. */
export interface Certificate {
  key: string;
  cert: string;
}

const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
const dates = { valid: [-1, 2], expired: [-3, -1] } as const;

/** Signs certificates, as a company's own authority does; made by openssl in a folder of its own. */
export class Authority {
  readonly #folder = mkdtempSync(join(tmpdir(), "crm-sync-authority-"));
  /** Its own certificate, in PEM. */
  readonly file = join(this.#folder, "authority.pem");
  #made = 0;

  constructor(name: string) {
    const own = ["-days", "9", "-subj", `/CN=${name} authority`, "-keyout", "authority.key", "-out", "authority.pem"];
    this.#openssl("req", "-x509", ...newKey, ...own);
    writeFileSync(join(this.#folder, "index"), "");
    writeFileSync(
      join(this.#folder, "ca.cnf"),
      "[ca]\ndefault_ca=own\n[own]\ndatabase=index\nnew_certs_dir=.\nrand_serial=yes\nunique_subject=no\n" +
        "policy=any\ndefault_md=sha256\n[any]\ncommonName=supplied\n",
    );
  }

  get pem(): string {
    return readFileSync(this.file, "utf8");
  }

  /** A certificate for a name, such as `DNS:localhost` or `IP:127.0.0.1`. */
  certificate(name: string, when: keyof typeof dates = "valid"): Certificate {
    this.#made += 1;
    const file = `server${this.#made}`;
    writeFileSync(join(this.#folder, `${file}.ext`), `subjectAltName=${name}\nbasicConstraints=CA:FALSE\n`);
    this.#openssl("req", ...newKey, "-subj", "/CN=server", "-keyout", `${file}.key`, "-out", `${file}.csr`);
    const [from, to] = dates[when].map(daysFromNow);
    const signed = ["-keyfile", "authority.key", "-cert", "authority.pem", "-extfile", `${file}.ext`];
    const time = ["-startdate", from ?? "", "-enddate", to ?? ""];
    this.#openssl(
      "ca",
      "-batch",
      "-notext",
      "-config",
      "ca.cnf",
      ...signed,
      ...time,
      "-in",
      `${file}.csr`,
      "-out",
      `${file}.crt`,
    );
    const text = (ending: string): string => readFileSync(join(this.#folder, `${file}.${ending}`), "utf8");
    return { key: text("key"), cert: text("crt") };
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #openssl(...words: string[]): void {
    execFileSync("openssl", words, { cwd: this.#folder, stdio: ["ignore", "ignore", "pipe"] });
  }
}

/** As openssl writes it: 20261120080000Z. */
function daysFromNow(days: number): string {
  const time = new Date(Date.now() + days * 86_400_000).toISOString();
  return `${time.replaceAll(/\D/gu, "").slice(0, 14)}Z`;
}
