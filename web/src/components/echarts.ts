// The parts of ECharts that the page uses; what is not listed here is not in the file.
import { BarChart, BoxplotChart, CustomChart, LineChart, PieChart, ScatterChart } from 'echarts/charts';
import { DataZoomInsideComponent, DataZoomSliderComponent, GridComponent, LegendComponent, MarkLineComponent, TooltipComponent } from 'echarts/components';
import { init, use, type ECharts, type EChartsCoreOption } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';

use([
  BarChart, BoxplotChart, CustomChart, LineChart, PieChart, ScatterChart,
  DataZoomInsideComponent, DataZoomSliderComponent, GridComponent, LegendComponent, MarkLineComponent, TooltipComponent, SVGRenderer,
]);

export { init, type ECharts, type EChartsCoreOption };
