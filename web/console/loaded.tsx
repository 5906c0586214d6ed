import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { call, type Told } from "#web/console/api.ts";

export interface Loading<T> {
  /** The last good answer; null before the first. */
  data: T | null;
  /** Why the last attempt failed; null when it did not. */
  fault: string | null;
  reload: () => Promise<void>;
}

/** Loads `path` when the page opens and whenever it changes, and again every `everyMs` while it can be seen. */
export function useLoaded<T>(path: string, everyMs = 0): Loading<T> {
  const [told, setTold] = useState<{ path: string; data: T | null; fault: string | null }>({
    path,
    data: null,
    fault: null,
  });
  const asked = useRef(0);
  const reload = useCallback(async (): Promise<void> => {
    const mine = ++asked.current;
    const answer: Told<T> = await call<T>("GET", path);
    // A slower answer to an earlier question must not take the place of a later one's.
    if (mine !== asked.current) return;
    setTold((before) =>
      answer.ok
        ? { path, data: answer.body, fault: null }
        : { path, data: before.path === path ? before.data : null, fault: answer.detail },
    );
  }, [path]);
  useEffect(() => {
    void reload();
    if (everyMs === 0) return undefined;
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") void reload();
    }, everyMs);
    return () => clearInterval(timer);
  }, [reload, everyMs]);
  const current = told.path === path;
  return { data: current ? told.data : null, fault: current ? told.fault : null, reload };
}

/** What has been loaded, or that it is being loaded, or why it could not be. */
export function Loaded<T>({
  loading,
  children,
}: {
  loading: Loading<T>;
  children: (data: T) => ComponentChildren;
}) {
  const { data, fault, reload } = loading;
  return (
    <>
      {fault !== null && (
        <div class="fault" role="alert">
          <p>{fault}</p>
          <button type="button" onClick={() => void reload()}>
            Try again
          </button>
        </div>
      )}
      {data === null ? fault === null && <Skeleton /> : children(data)}
    </>
  );
}

const Skeleton = () => (
  <div class="skeleton" role="status">
    <span class="unseen">Loading …</span>
    <i />
    <i />
    <i />
  </div>
);
