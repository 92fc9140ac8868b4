// The parts of ECharts that the page uses; what is not listed here is not in the file.
import { BarChart, BoxplotChart, CustomChart, LineChart, PieChart, ScatterChart } from 'echarts/charts';
import { DataZoomInsideComponent, DataZoomSliderComponent, GridComponent, LegendComponent, MarkLineComponent, TooltipComponent } from 'echarts/components';
import { init, use, type ECharts, type EChartsCoreOption } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';

// zrender keeps what it measured of texts in plain objects by text: one that reads `__proto__` would get
// Object.prototype as its entry and write into it, and every loop over keys would see that.
delete (Object.prototype as { __proto__?: unknown }).__proto__;

use([
  BarChart, BoxplotChart, CustomChart, LineChart, PieChart, ScatterChart,
  DataZoomInsideComponent, DataZoomSliderComponent, GridComponent, LegendComponent, MarkLineComponent, TooltipComponent, SVGRenderer,
]);

export { init, type ECharts, type EChartsCoreOption };
