import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Icon } from "#web/kit/icon.tsx";
import { canBeTold, isForHomeScreen } from "#web/widget/alerts.ts";
import type { TellMe } from "#web/widget/parts/tell-me.tsx";
import { words } from "#web/widget/words.ts";

type Props = Parameters<typeof TellMe>[0];

/** The bell in the head of a panel: opens the offer to be told. It is left out where no browser could tell. */
export const Bell = ({ isOn }: { isOn: Signal<boolean> }) =>
  canBeTold() || isForHomeScreen() ? (
    <button
      type="button"
      class="round"
      aria-label={words.tellMe}
      title={words.tellMe}
      aria-expanded={isOn.value}
      onClick={() => (isOn.value = !isOn.value)}
    >
      <Icon name="bell" />
    </button>
  ) : null;

/** The offer to be told, where the browser takes notifications. Its code comes when it is first seen. */
export const TellMeLater = (props: Props) => {
  const part = useSignal<{ Part: typeof TellMe } | null>(null);
  useEffect(() => {
    import("#web/widget/parts/tell-me.tsx").then(
      (loaded) => (part.value = { Part: loaded.TellMe }),
      (error: unknown) => console.warn(error),
    );
  }, []);
  return part.value === null ? null : <part.value.Part {...props} />;
};
