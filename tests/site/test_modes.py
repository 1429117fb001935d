"""Pages on paper and in colours that the system forces: nothing that is read gets lost in its ground."""

import pytest
from browsing import COLOUR_RULES, DESK, FOLD_DRAWINGS, KNOWN, settled, too_close, violations

MODES = {"print": {"media": "print"}, "forced colours": {"forced_colors": "active"}}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_carries_meaning_stands_out_from_its_ground(scheme, mode, browser, address, sample):
    context = browser.new_context(color_scheme=scheme, reduced_motion="reduce", viewport=DESK)
    opened = context.new_page()
    faults = {}
    for name in sample:
        opened.emulate_media(media="screen", forced_colors="none")
        opened.goto(address + name)
        settled(opened)
        opened.emulate_media(**MODES[mode])
        found = too_close(opened)
        if mode == "forced colours":
            opened.evaluate(FOLD_DRAWINGS)
            found += violations(opened, COLOUR_RULES)
        known = max(KNOWN.get((one, name), ("", 0))[1] for one in ("light", "dark"))
        faults |= {name: found} if len(found) > known else {}
    context.close()
    assert faults == {}
