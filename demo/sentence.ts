/** What an error that ends `npm start` means to whoever typed it. `dataDir` is where the data lies. */
export function sentenceOf(error: unknown, dataDir: string): string {
  const { message, code = "" } = error as NodeJS.ErrnoException;
  // 53100 is Postgres's word for it.
  if (code === "ENOSPC" || code === "53100")
    return `The disk that ${dataDir} lies on is full: make room there, then run this again.`;
  if (code === "EACCES" || code === "EPERM")
    return `${message}\nSome of ${dataDir} belongs to another user: start this as that user, or remove that folder to begin anew.`;
  // An error of Postgres begins with the statement, which may be long.
  return /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? (message.split(" - ").at(-1) ?? message) : message;
}
