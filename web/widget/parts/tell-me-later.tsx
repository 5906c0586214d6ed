import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { canBeTold } from "#web/widget/alerts.ts";
import type { TellMe } from "#web/widget/parts/tell-me.tsx";

type Props = Parameters<typeof TellMe>[0];

/** The offer to be told, where the browser takes notifications. Its code comes when it is first seen. */
export const TellMeLater = (props: Props) => {
  const part = useSignal<{ Part: typeof TellMe } | null>(null);
  useEffect(() => {
    if (!canBeTold()) return;
    import("#web/widget/parts/tell-me.tsx").then(
      (loaded) => (part.value = { Part: loaded.TellMe }),
      (error: unknown) => console.warn(error),
    );
  }, []);
  return part.value === null ? null : <part.value.Part {...props} />;
};
