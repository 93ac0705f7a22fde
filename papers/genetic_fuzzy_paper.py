"""What Franke, Lepping and Schwiegelshohn report: tables 3 and 4."""

from __future__ import annotations

#: Table 3: AWRT 1 to 5, utilization in per cent, objective; CTC.
TABLE_3 = {
    "front": (49652.04, 56330.98, 60691.71, 59698.30, 32726.87, 66.99, 721844.268),
    "EASY": (59681.28, 64976.07, 50317.47, 46120.02, 31855.68, 66.99, 856717.0),
    "PITTS": (49639.195, 56722.796, 49541.757, 59212.093, 81268.331, 66.99, 723283.134),
    "CCA": (49676.087, 56522.699, 48723.312, 57488.074, 74983.133, 66.99, 722851.666),
    "PROB": (53780.183, 59448.484, 53185.9, 53417.769, 45390.11, 66.99, 775595.766),
}
#: Table 4: improvement of PITTS over EASY in per cent, the utilization's in points.
TABLE_4 = {
    "CTC": (16.83, 12.7, 1.54, -28.39, -155.11, 0.0, 15.58),
    "KTH": (25.35, 8.44, -57.64, -199.49, -744.53, 0.0, 19.82),
    "LANL": (19.75, 14.84, -24.09, -47.2, -269.06, 0.0, 18.24),
    "SDSC 00": (60.83, 42.37, -12.72, -3234.66, -14360.76, -5.57, 55.79),
    "SDSC 96": (1.35, 1.2, -20.03, -26.15, -4.09, 0.0, 1.31),
}
#: Its learners, as the study calls them.
LEARNERS = ("prob", "pitts", "cca")
