import type { Signal } from "@preact/signals";
import { Icon } from "#web/kit/icon.tsx";
import { canBeTold, isForHomeScreen } from "#web/widget/can-be-told.ts";
import { later } from "#web/widget/parts/later.tsx";
import { words } from "#web/widget/words.ts";

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

/** The offer to be told, where the browser takes notifications. */
export const TellMeLater = later((parts) => parts.TellMe);
