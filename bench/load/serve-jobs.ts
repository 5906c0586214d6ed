/** Makes this process a load generator: runs each job that comes over IPC and sends back what it measured. */
export function serveJobs(run: (job: never) => Promise<object>): void {
  // What kind of job it is, the benchmark that started this process knows.
  process.on("message", (job: unknown) => {
    run(job as never).then(
      (measured) => process.send!(measured),
      (error: Error) => {
        console.error(error);
        process.exit(1);
      },
    );
  });
  process.on("disconnect", () => process.exit(0));
}
