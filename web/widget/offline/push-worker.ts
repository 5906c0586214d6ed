import { takePushes } from "#web/widget/offline/push-events.ts";

// A service worker that does nothing but show notifications. A worker of the whole map calls `takePushes` itself.
takePushes(self as never);
