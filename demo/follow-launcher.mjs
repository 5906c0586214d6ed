// Loaded into every child of the launcher and of the tests: when they die by kill -9, so that nobody is left to
// stop their children, the channel to them closes and the child stops by itself.
if (process.channel) {
  process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
  // The channel alone must not keep a process alive that has nothing more to do; a worker of mocha waits for more.
  if (!process.argv[1]?.endsWith("worker.cjs")) process.channel.unref();
}
