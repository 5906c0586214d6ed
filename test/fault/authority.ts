import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Context } from "mocha";
import { provided } from "#test/harness/provided.ts";

export interface Certificate {
  /** Its file and that of its key. */
  certFile: string;
  keyFile: string;
  cert: Buffer;
  key: Buffer;
}

/**
 * A certificate authority of a test's own, whose certificate is in `caFile`. Skips the test where there is no openssl.
 * `issue` makes a certificate for a name as openssl writes it, for example `DNS:localhost`.
 */
export function openAuthority(test: Context): {
  caFile: string;
  ca: Buffer;
  issue(subjectAltName: string): Certificate;
} {
  const folder = join(provided("TEST_DATA"), "authority");
  mkdirSync(folder, { recursive: true });
  const openssl = (...args: string[]) =>
    execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
  try {
    openssl("version");
  } catch {
    console.log("      no openssl on PATH: skipped");
    test.skip();
  }
  const make = (name: string, ...more: string[]): Certificate => {
    const [certFile, keyFile] = [join(folder, `${name}.pem`), join(folder, `${name}.key`)];
    openssl(
      ...["req", "-x509", "-newkey", "rsa:2048", "-keyout", keyFile, "-out", certFile],
      ...["-subj", `/CN=${name}`, "-days", "2", "-nodes", ...more],
    );
    return { certFile, keyFile, cert: readFileSync(certFile), key: readFileSync(keyFile) };
  };
  const own = make("own");
  let issued = 0;
  return {
    caFile: own.certFile,
    ca: own.cert,
    issue: (subjectAltName) =>
      make(
        `issued-${(issued += 1)}`,
        ...["-CA", own.certFile, "-CAkey", own.keyFile],
        ...["-addext", `subjectAltName=${subjectAltName}`],
      ),
  };
}
